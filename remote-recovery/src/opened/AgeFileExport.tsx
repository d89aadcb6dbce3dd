import { CopyButton, saveFile, useVaultOperation } from "@relicario/shared/forms";
import {
  Button,
  ErrorNotice,
  markVerbatim,
  Muted,
  renderVerbatim,
  s,
  SectionTitle,
  SmallText,
  space,
  SpacedRow,
  Stack,
} from "@relicario/shared/ui";
import type { AgeFile, ShownContent } from "@relicario/vault/element";
import { Download, FileLock2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { GuardedButton } from "../openers/GuardedButton.tsx";
import { describeAgeFile, formatIdentityFile } from "./age-file.ts";

interface AgeFileExportProps {
  readonly content: Pick<ShownContent, "name" | "size">;
  readonly exportAgeFile: () => Promise<AgeFile>;
}

/**
 * Exports the sealed file, its identity and the command that opens it with the standard `age` tool,
 * without this portal.
 */
export function AgeFileExport({ content, exportAgeFile }: AgeFileExportProps) {
  const { t } = useTranslation("beta-recover");
  const [isOpen, setIsOpen] = useState(false);
  const { sealedName, identityName, command } = describeAgeFile(content);
  const [requestedFile, setRequestedFile] = useState<"sealed" | "identity">("sealed");
  const { running, error, start } = useVaultOperation();

  // The vault returns the identity for this click only; the element does not keep it.
  const save = (next: "sealed" | "identity") => {
    setRequestedFile(next);
    start({
      run: exportAgeFile,
      onDone: ({ sealedContent, identity }) => {
        if (next === "sealed") saveFile(sealedName, sealedContent);
        else saveFile(identityName, formatIdentityFile(identity));
      },
    });
  };
  return (
    <Stack $gap={3}>
      <SectionTitle>{t("age.title")}</SectionTitle>
      <Muted>{t(isOpen ? "age.open_body" : "age.body")}</Muted>
      <SpacedRow>
        <Button
          tone="quiet"
          icon={<FileLock2 aria-hidden />}
          aria-expanded={isOpen}
          onClick={() => {
            setIsOpen(!isOpen);
          }}
        >
          {t("age.open_action")}
        </Button>
      </SpacedRow>
      {isOpen && (
        <Steps>
          <li>
            <GuardedButton
              tone="quiet"
              wide
              icon={<Download aria-hidden />}
              pending={running && requestedFile === "sealed"}
              onClick={() => {
                save("sealed");
              }}
            >
              {t("age.sealed_action")}
            </GuardedButton>
            <SmallText>{sealedName}</SmallText>
          </li>
          <li>
            <GuardedButton
              tone="quiet"
              wide
              icon={<Download aria-hidden />}
              pending={running && requestedFile === "identity"}
              onClick={() => {
                save("identity");
              }}
            >
              {t("age.identity_action")}
            </GuardedButton>
            <SmallText>{renderVerbatim(t("age.identity_hint", { name: markVerbatim(identityName) }))}</SmallText>
          </li>
          <li>
            <SmallText>{t("age.command_hint")}</SmallText>
            <Command tabIndex={0} translate="no" aria-label={t("age.command_aria")}>
              {command}
            </Command>
            <CopyButton label={t("age.copy_action")} getText={() => command} />
          </li>
        </Steps>
      )}
      <ErrorNotice error={error} />
    </Stack>
  );
}

const Steps = styled.ol`
  display: flex;
  flex-direction: column;
  gap: ${space(4)};
  & > li {
    display: flex;
    flex-direction: column;
    gap: ${space(2)};
    min-width: 0;
    overflow-wrap: anywhere;
  }
`;

const Command = styled.code`
  display: block;
  padding: ${space(3)};
  border-radius: ${s("radiusSmall")};
  background: ${s("surfaceSunken")};
  font-family: ${s("fontMono")};
  font-size: ${s("textSmall")};
  overflow-wrap: anywhere;
`;
