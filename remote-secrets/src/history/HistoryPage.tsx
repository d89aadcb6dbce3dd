import { formerVersionRetentionDays, maxFormerVersions } from "@relicario/shared/api";
import { usePortal, type SecretVersion, type Vault } from "@relicario/shared/contract";
import { getFormats } from "@relicario/shared/i18n";
import {
  Button,
  ButtonLink,
  Card,
  EmptyState,
  ErrorNotice,
  Loading,
  Page,
  s,
  Skeleton,
  SmallText,
  space,
  SpacedRow,
  Stack,
} from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { FileQuestion } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useParams } from "react-router-dom";
import { styled } from "styled-components";

import { historyQuery, useSecrets } from "../data/secrets.ts";
import { ReadFailureNotice } from "../notices/ReadFailureNotice.tsx";
import { RemoveVersionsPanel } from "./RemoveVersionsPanel.tsx";
import { RestorePanel } from "./RestorePanel.tsx";

/**
 * Route `/secret-history/:secretId`: lists the versions of a secret. Versions whose content is kept
 * can be opened, restored and removed.
 */
export default function HistoryPage() {
  const { t } = useTranslation("beta-home");
  const { user } = usePortal();
  const { secretId = "" } = useParams();
  const secrets = useSecrets();
  const vault = secrets.status === "ready" ? secrets.vault : null;
  const history = useQuery(historyQuery(vault, user.userId, secretId));
  const row =
    secrets.status === "ready" ? secrets.rows.find((candidate) => candidate.secretId === secretId) : undefined;
  const title = row?.label?.title;
  const isMissing = secrets.status === "ready" && secrets.openingProgress === null && row === undefined;
  return (
    <Page
      title={t("history.title")}
      lead={title === undefined || title === "" ? t("history.lead_body") : t("history.lead_of_body", { title })}
      actions={
        <ButtonLink tone="quiet" size="small" to="/secrets">
          {t("history.back_action")}
        </ButtonLink>
      }
    >
      {secrets.status !== "loading" && <ReadFailureNotice failure={secrets.failure} />}
      {isMissing && (
        <EmptyState
          icon={<FileQuestion />}
          title={t("history.gone_title")}
          actions={<ButtonLink to="/secrets">{t("history.back_action")}</ButtonLink>}
        >
          <p>{t("history.gone_body")}</p>
        </EmptyState>
      )}
      {!isMissing && history.isError && <ErrorNotice error={history.error} onRetry={() => void history.refetch()} />}
      {secrets.status !== "failed" && !isMissing && history.isPending && (
        <Loading label={t("history.loading_status")}>
          <Stack $gap={3}>
            <Skeleton height="92px" />
            <Skeleton height="92px" />
          </Stack>
        </Loading>
      )}
      {!isMissing && vault !== null && history.data !== undefined && (
        <VersionList
          vault={vault}
          secretId={secretId}
          versions={history.data}
          restorable={row?.deletedAt === null}
          removable={secrets.status === "ready" && secrets.vaultStatus === "unlocked"}
        />
      )}
    </Page>
  );
}

interface VersionListProps {
  readonly vault: Vault;
  readonly secretId: string;
  readonly versions: readonly SecretVersion[];
  /** Whether versions can be restored; false in the trash. */
  readonly restorable: boolean;
  /** Whether versions can be removed; false while locked, because a removal is signed. */
  readonly removable: boolean;
}

function VersionList({ vault, secretId, versions, restorable, removable }: VersionListProps) {
  const { t } = useTranslation("beta-home");
  const { language } = usePortal();
  const [restoringVersion, setRestoringVersion] = useState<number | null>(null);
  const [removing, setRemoving] = useState(false);
  const formats = getFormats(language);
  return (
    <>
      <Items aria-label={t("history.list_aria")}>
        {versions.map(({ version, createdAt, sealedSize, current, dropped }) => (
          <Card as="li" key={version}>
            <Stack $gap={3}>
              <Header>
                <h2>{t("history.version_title", { version })}</h2>
                {current && <CurrentBadge>{t("history.current_body")}</CurrentBadge>}
                {dropped && <DroppedNote>{t("history.dropped_body")}</DroppedNote>}
              </Header>
              <SmallText>
                {t("history.facts_body", { when: formats.dateTime(createdAt), size: formats.size(sealedSize) })}
              </SmallText>
              {dropped ? null : restoringVersion === version ? (
                <RestorePanel
                  vault={vault}
                  secretId={secretId}
                  version={version}
                  onClose={() => {
                    setRestoringVersion(null);
                  }}
                />
              ) : (
                <SpacedRow>
                  <ButtonLink
                    tone="quiet"
                    size="small"
                    to={`/provide-image-recovery?${new URLSearchParams({ secret: secretId, ...(current ? {} : { version: String(version) }) }).toString()}`}
                    aria-label={t("history.show_aria", { version })}
                  >
                    {t("history.show_action")}
                  </ButtonLink>
                  {!current && restorable && (
                    <Button
                      tone="quiet"
                      size="small"
                      aria-label={t("history.restore_aria", { version })}
                      onClick={() => {
                        setRestoringVersion(version);
                      }}
                    >
                      {t("history.restore_action")}
                    </Button>
                  )}
                </SpacedRow>
              )}
            </Stack>
          </Card>
        ))}
      </Items>
      <SmallText>{t("history.kept_hint", { count: maxFormerVersions, days: formerVersionRetentionDays })}</SmallText>
      {removing && (
        <Card>
          <RemoveVersionsPanel
            vault={vault}
            secretId={secretId}
            onClose={() => {
              setRemoving(false);
            }}
          />
        </Card>
      )}
      {!removing && removable && versions.some(({ current, dropped }) => !current && !dropped) && (
        <div>
          <Button
            tone="quiet"
            size="small"
            onClick={() => {
              setRemoving(true);
            }}
          >
            {t("remove.title")}
          </Button>
        </div>
      )}
    </>
  );
}

const Items = styled.ol`
  display: flex;
  flex-direction: column;
  gap: ${space(3)};
`;

const Header = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(3)};
  & > h2 {
    font-size: ${s("textBase")};
  }
`;

const DroppedNote = styled.span`
  color: ${s("textMuted")};
  font-size: ${s("textSmall")};
`;

const CurrentBadge = styled.span`
  padding: 0 ${space(2)};
  border-radius: ${s("radiusSmall")};
  background: ${s("successSoft")};
  color: ${s("successText")};
  font-size: ${s("textSmall")};
  font-weight: 550;
`;
