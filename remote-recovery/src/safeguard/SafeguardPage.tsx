import { ButtonLink, Card, Muted, Notice, Page, SectionTitle, SpacedRow, Stack } from "@relicario/shared/ui";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { useSearchParams } from "react-router-dom";

import { FlowSteps } from "../flow/FlowSteps.tsx";
import { KeepTaken } from "../picture/KeepTaken.tsx";
import { useTaken } from "../picture/taken-picture.ts";
import { KitSection } from "./KitSection.tsx";
import { showSafeguard } from "./leave-safeguard.ts";

const things = ["picture", "passphrase", "account", "exit"] as const;

/**
 * What to keep, and how: in words, and as a kit that opens without the portal. `?secret=` names
 * what a backup has just protected: then it is a step on the way to its end, and "I have kept my
 * picture" can be said once the picture was saved; a kit is no picture.
 */
export default function SafeguardPage() {
  const { t } = useTranslation(["safeguard", "provide-image"]);
  const [query] = useSearchParams();
  const secretId = query.get("secret");
  const taken = useTaken();
  const [kitMade, setKitMade] = useState(false);
  const kept = taken?.saved === true;
  useEffect(showSafeguard, []);
  return (
    <Page title={t("page.title")} lead={t("page.lead_body")}>
      {secretId !== null && <FlowSteps flow="backup" step="safeguard" />}
      {taken !== null && <KeepTaken taken={taken} />}
      {things.map((thing) => (
        <Card key={thing} aria-labelledby={`keep-${thing}`}>
          <Stack $gap={2}>
            <SectionTitle id={`keep-${thing}`}>{t(`${thing}.title`)}</SectionTitle>
            <Muted>{t(`${thing}.body`)}</Muted>
          </Stack>
        </Card>
      ))}
      <KitSection
        onMade={() => {
          setKitMade(true);
        }}
      />
      <Notice tone="warn">{t("page.lost_body")}</Notice>
      <SpacedRow>
        {secretId === null ? (
          <ButtonLink to="/secrets">{t("page.list_action")}</ButtonLink>
        ) : (
          <ButtonLink
            to={`/congrats?${new URLSearchParams({ secret: secretId }).toString()}`}
            tone={kept || kitMade ? "primary" : "quiet"}
          >
            {t(kept ? "page.kept_action" : "page.next_action")}
          </ButtonLink>
        )}
      </SpacedRow>
    </Page>
  );
}
