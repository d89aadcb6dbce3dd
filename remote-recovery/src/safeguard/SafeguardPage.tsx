import {
  ButtonLink,
  Card,
  Muted,
  Notice,
  Page,
  PictureFacts,
  SectionTitle,
  SpacedRow,
  Stack,
} from "@relicario/shared/ui";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { useSearchParams } from "react-router-dom";

import { FlowSteps } from "../flow/FlowSteps.tsx";
import { useCaptureSaved } from "../elements/saved-capture.ts";
import { KitSection } from "./KitSection.tsx";
import { trackSafeguardMount } from "./safeguard-cleanup.ts";

const topics = ["picture", "passphrase", "account", "exit"] as const;

/**
 * Route `/safeguard`: advice on what to keep, and a kit that opens without the portal. `?secret=`
 * makes the page a step of the backup flow. Its button says "I have saved copies of my picture"
 * only after the picture was saved, because a kit does not replace the picture.
 */
export default function SafeguardPage() {
  const { t } = useTranslation(["safeguard", "provide-image"]);
  const [query] = useSearchParams();
  const secretId = query.get("secret");
  const pictureSaved = useCaptureSaved();
  const [kitCreated, setKitCreated] = useState(false);
  useEffect(trackSafeguardMount, []);
  return (
    <Page title={t("page.title")} lead={t("page.lead_body")}>
      {secretId !== null && <FlowSteps flow="backup" step="safeguard" />}
      {topics.map((topic) => (
        <Card key={topic} aria-labelledby={`keep-${topic}`}>
          <Stack $gap={2}>
            <SectionTitle id={`keep-${topic}`}>{t(`${topic}.title`)}</SectionTitle>
            <Muted>{t(`${topic}.body`)}</Muted>
            {topic === "picture" && <PictureFacts />}
          </Stack>
        </Card>
      ))}
      <KitSection
        onCreated={() => {
          setKitCreated(true);
        }}
      />
      <Notice tone="warn">{t("page.lost_body")}</Notice>
      <SpacedRow>
        {secretId === null ? (
          <ButtonLink to="/secrets">{t("page.list_action")}</ButtonLink>
        ) : (
          <ButtonLink
            to={`/congrats?${new URLSearchParams({ secret: secretId }).toString()}`}
            tone={pictureSaved || kitCreated ? "primary" : "quiet"}
          >
            {t(pictureSaved ? "page.kept_action" : "page.next_action")}
          </ButtonLink>
        )}
      </SpacedRow>
    </Page>
  );
}
