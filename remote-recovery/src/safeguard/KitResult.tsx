import type { CreatedKit, SecretRow } from "@relicario/shared/contract";
import { CopyButton, saveFile } from "@relicario/shared/forms";
import {
  Button,
  markVerbatim,
  Muted,
  Notice,
  renderVerbatim,
  s,
  SectionTitle,
  SmallText,
  SpacedRow,
  Stack,
} from "@relicario/shared/ui";
import { Download, Printer } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { SaveToDrive } from "../drives/SaveToDrive.tsx";
import { focusOnMount } from "../flow/focus-on-mount.ts";
import { KitSheet } from "./KitSheet.tsx";
import { useSecretTitles } from "./secret-titles.ts";

interface KitResultProps {
  readonly kit: CreatedKit;
  readonly rows: readonly SecretRow[];
  readonly onCreateAnother: () => void;
}

/** Result of a download: what to keep with the kit, its digest, and a sheet to print. */
export function KitResult({ kit, rows, onCreateAnother }: KitResultProps) {
  const { t } = useTranslation("safeguard");
  const joinTitles = useSecretTitles(rows);
  const [printing, setPrinting] = useState(false);
  return (
    <Stack $gap={4}>
      <SectionTitle ref={focusOnMount} tabIndex={-1}>
        {t("kit.done_title")}
      </SectionTitle>
      <Muted>{renderVerbatim(t("kit.done_body", { name: markVerbatim(kit.name) }))}</Muted>
      {!kit.hasPassphrase && (
        <Notice tone="warn" title={t("kit.open_title")}>
          {t("kit.open_body")}
        </Notice>
      )}
      {kit.attachments.length > 0 && (
        <Notice
          tone="warn"
          title={t("kit.beside_title")}
          actions={kit.attachments.map(({ name, file }) => (
            <Button
              key={name}
              tone="quiet"
              size="small"
              icon={<Download aria-hidden />}
              onClick={() => {
                saveFile(name, file);
              }}
            >
              {renderVerbatim(t("kit.beside_action", { name: markVerbatim(name) }))}
            </Button>
          ))}
        >
          {t("kit.beside_body")}
        </Notice>
      )}
      {kit.skippedIds.length > 0 && (
        <Notice title={t("kit.left_title")}>
          {renderVerbatim(t("kit.left_body", { titles: markVerbatim(joinTitles(kit.skippedIds)) }))}
        </Notice>
      )}
      {kit.unverifiedIds.length > 0 && (
        <Notice tone="warn" title={t("kit.author_title")}>
          {renderVerbatim(t("kit.author_body", { titles: markVerbatim(joinTitles(kit.unverifiedIds)) }))}
        </Notice>
      )}
      <Stack $gap={2}>
        <SmallText id="kit-digest">{t("kit.digest_label")}</SmallText>
        <Digest tabIndex={0} aria-labelledby="kit-digest">
          {kit.sha256}
        </Digest>
      </Stack>
      <SpacedRow $align="start">
        <Button
          icon={<Printer aria-hidden />}
          onClick={() => {
            setPrinting(true);
          }}
        >
          {t("kit.print_action")}
        </Button>
        <Button
          tone="quiet"
          icon={<Download aria-hidden />}
          onClick={() => {
            saveFile(kit.name, kit.file);
          }}
        >
          {t("kit.save_action")}
        </Button>
        <CopyButton label={t("kit.copy_action")} getText={() => kit.sha256} />
        <Button tone="plain" onClick={onCreateAnother}>
          {t("kit.again_action")}
        </Button>
      </SpacedRow>
      <SaveToDrive kind="kit" files={() => toFiles(kit)} blocked={!kit.hasPassphrase} />
      {printing && (
        <KitSheet
          kit={kit}
          onEnd={() => {
            setPrinting(false);
          }}
        />
      )}
    </Stack>
  );
}

/** The kit and the files that must be kept next to it. */
function toFiles({ name, file, attachments }: CreatedKit): readonly File[] {
  return [
    new File([file], name, { type: "text/html" }),
    ...attachments.map(
      (attachment) => new File([attachment.file], attachment.name, { type: "application/octet-stream" }),
    ),
  ];
}

const Digest = styled.code.attrs({ role: "group" })`
  font-family: ${s("fontMono")};
  font-size: ${s("textSmall")};
  overflow-wrap: anywhere;
`;
