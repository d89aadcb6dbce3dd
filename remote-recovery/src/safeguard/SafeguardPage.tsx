import { ButtonLink, Card, Muted, Notice, Page, SectionTitle, SpacedRow, Stack } from "@relicario/shared/ui";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { useSearchParams } from "react-router-dom";

import { FlowSteps } from "../flow/FlowSteps.tsx";
import { SaveCapturedPicture } from "../picture/SaveCapturedPicture.tsx";
import { useCapturedPicture } from "../picture/captured-picture.ts";
import { KitSection } from "./KitSection.tsx";
import { trackSafeguardMount } from "./safeguard-cleanup.ts";

const topics = ["picture", "passphrase", "account", "exit"] as const;

/**
 * What to keep, and how: in words, and as a kit that opens without the portal. `?secret=` names
 * what a backup has just protected: then it is a step on the way to its end, and "I have kept my
 * picture" can be said once the picture was saved; a kit is no picture.
 */
export default function SafeguardPage() {
  const { t } = useTranslation(["safeguard", "provide-image"]);
  const [query] = useSearchParams();
  const secretId = query.get("secret");
  const capturedPicture = useCapturedPicture();
  const [kitCreated, setKitCreated] = useState(false);
  const pictureSaved = capturedPicture?.saved === true;
  useEffect(trackSafeguardMount, []);
  return (
    <Page title={t("page.title")} lead={t("page.lead_body")}>
      {secretId !== null && <FlowSteps flow="backup" step="safeguard" />}
      {capturedPicture !== null && <SaveCapturedPicture capturedPicture={capturedPicture} />}
      {topics.map((topic) => (
        <Card key={topic} aria-labelledby={`keep-${topic}`}>
          <Stack $gap={2}>
            <SectionTitle id={`keep-${topic}`}>{t(`${topic}.title`)}</SectionTitle>
            <Muted>{t(`${topic}.body`)}</Muted>
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
