import { Switch } from "@relicario/shared/forms";
import { Button, Card, Muted, Page, s, SectionTitle, SmallText, space, SpacedRow, Stack } from "@relicario/shared/ui";
import { useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { useHost } from "../context/host-context.ts";
import { useAreaTitle } from "../area/area-title.ts";

/**
 * Page for developers: feature flags, which can be switched for this session, and the releases of
 * this page.
 */
export default function DebugFlagsPage() {
  const { t } = useTranslation("header");
  const { flags } = useHost();
  const flagValues = useSyncExternalStore(flags.subscribe, flags.getState);
  const names = flags.switchableNames.toSorted();
  const changedNames = names.filter((name) => flagValues[name] !== flags.defaults[name]);

  return (
    <Page
      title={t("flags.title")}
      lead={t("flags.lead")}
      actions={
        <Button tone="quiet" disabled={changedNames.length === 0} onClick={flags.reset}>
          {t("flags.reset_action")}
        </Button>
      }
    >
      {names.length > 0 && (
        <Card>
          <List>
            {names.map((name) => (
              <li key={name}>
                <SpacedRow $justify="between">
                  <Switch
                    label={name}
                    checked={flagValues[name] === true}
                    onChange={(enabled) => {
                      flags.set(name, enabled);
                    }}
                  />
                  {changedNames.includes(name) && (
                    <SmallText>
                      {t(flags.defaults[name] === true ? "flags.was_on_hint" : "flags.was_off_hint")}
                    </SmallText>
                  )}
                </SpacedRow>
              </li>
            ))}
          </List>
        </Card>
      )}
      <BuildInfo />
    </Page>
  );
}

/** The releases of this page. Release ids are not translated. */
function BuildInfo() {
  const { t } = useTranslation("header");
  const { verifiedDeployment } = useHost();
  const getAreaTitle = useAreaTitle();
  const { deployment, remotes } = verifiedDeployment;
  const facts: readonly (readonly [string, string])[] = [
    [t("flags.environment_label"), deployment.environment],
    [t("flags.version_label"), deployment.app_version],
    [t("flags.sequence_label"), String(deployment.sequence)],
    ...[...remotes].map(
      ([name, remote]) =>
        [
          getAreaTitle(name),
          remote.status === "verified" ? remote.record.release : t(`errors:${remote.code}`),
        ] as const,
    ),
  ];
  return (
    <Card>
      <Stack $gap={3}>
        <SectionTitle>{t("flags.started_title")}</SectionTitle>
        <Muted>{t("flags.started_body")}</Muted>
        <Facts>
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </Facts>
      </Stack>
    </Card>
  );
}

const List = styled.ul`
  display: flex;
  flex-direction: column;
  gap: ${space(1)};
`;

const Facts = styled.dl`
  display: flex;
  flex-direction: column;
  gap: ${space(2)};
  & > div {
    display: flex;
    flex-wrap: wrap;
    gap: ${space(1)} ${space(4)};
  }
  & dt {
    flex: 0 0 12rem;
    color: ${s("textMuted")};
  }
  & dd {
    flex: 1 1 14rem;
    margin: 0;
    overflow-wrap: anywhere;
    font-family: ${s("fontMono")};
    font-size: ${s("textSmall")};
  }
`;
