import type { CreatedKit, SecretRow } from "@relicario/shared/contract";
import { CopyButton, saveFile } from "@relicario/shared/forms";
import { Button, Muted, Notice, s, SectionTitle, SmallText, SpacedRow, Stack } from "@relicario/shared/ui";
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

/** A kit that was handed to the downloads: what to keep with it, its digest, and its sheet. */
export function KitResult({ kit, rows, onCreateAnother }: KitResultProps) {
  const { t } = useTranslation("safeguard");
  const titlesOf = useSecretTitles(rows);
  const [printing, setPrinting] = useState(false);
  return (
    <Stack $gap={4}>
      <SectionTitle ref={focusOnMount} tabIndex={-1}>
        {t("kit.done_title")}
      </SectionTitle>
      <Muted>{t("kit.done_body", { name: kit.name })}</Muted>
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
              {t("kit.beside_action", { name })}
            </Button>
          ))}
        >
          {t("kit.beside_body")}
        </Notice>
      )}
      {kit.skipped.length > 0 && (
        <Notice title={t("kit.left_title")}>{t("kit.left_body", { titles: titlesOf(kit.skipped) })}</Notice>
      )}
      {kit.notVerified.length > 0 && (
        <Notice tone="warn" title={t("kit.author_title")}>
          {t("kit.author_body", { titles: titlesOf(kit.notVerified) })}
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
        <CopyButton label={t("kit.copy_action")} text={() => kit.sha256} />
        <Button tone="plain" onClick={onCreateAnother}>
          {t("kit.again_action")}
        </Button>
      </SpacedRow>
      <SaveToDrive kind="kit" files={() => filesOf(kit)} blocked={!kit.hasPassphrase} />
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

/** The kit, and what has to lie beside it. */
function filesOf({ name, file, attachments }: CreatedKit): readonly File[] {
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
