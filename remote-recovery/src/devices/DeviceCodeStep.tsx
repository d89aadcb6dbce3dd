import type { RequestingDevice, Vault } from "@relicario/shared/contract";
import type { PortalError } from "@relicario/shared/errors";
import { toEnglishWords, useVaultOperation } from "@relicario/shared/forms";
import { Button, Card, ErrorNotice, Muted, SectionTitle, SpacedRow, Stack } from "@relicario/shared/ui";
import { useState, type SyntheticEvent } from "react";
import { useTranslation } from "react-i18next";

import { getVaultElement } from "../elements/vault-elements.tsx";
import { focusOnMount } from "../flow/focus-on-mount.ts";
import { WordsField } from "../openers/WordsField.tsx";

interface DeviceCodeStepProps {
  readonly vault: Vault;
  readonly onFound: (code: string, requestingDevice: RequestingDevice) => void;
  readonly onCancel: () => void;
}

/** Takes the code of a new device, and looks up the device. */
export function DeviceCodeStep({ vault, onFound, onCancel }: DeviceCodeStepProps) {
  const { t } = useTranslation("devices");
  const [VaultElement] = useState(() => getVaultElement(vault));
  const [code, setCode] = useState("");
  const { running, error, start, cancel } = useVaultOperation();
  const handleSubmit = (event: SyntheticEvent) => {
    event.preventDefault();
    start({
      run: async (options) => {
        // without the word lists, the vault accepts English words and numbers
        const englishCode = await toEnglishWords(code).catch(() => code);
        return { englishCode, requestingDevice: await vault.deviceLinks.inspect(englishCode, options) };
      },
      onDone: ({ englishCode, requestingDevice }) => {
        onFound(englishCode, requestingDevice);
      },
    });
  };
  const handleChange = (words: string) => {
    setCode(words);
    cancel();
  };
  const codeUnreadable = error?.code === "device_code_unreadable";
  return (
    <form onSubmit={handleSubmit} noValidate>
      <Card aria-labelledby="device-code">
        <Stack $gap={4}>
          <SectionTitle ref={focusOnMount} tabIndex={-1} id="device-code">
            {t("code.title")}
          </SectionTitle>
          <Muted>{t("code.body")}</Muted>
          <WordsField
            label={t("code.typed_label")}
            hint={t("code.typed_hint")}
            value={code}
            disabled={running}
            error={codeUnreadable ? describeProblem(error) : null}
            rows={3}
            scanner={
              <VaultElement
                field={{ kind: "device_code_scan" }}
                disabled={running}
                onChange={() => undefined}
                onDeviceCode={handleChange}
              />
            }
            onChange={handleChange}
          />
          {!codeUnreadable && <ErrorNotice error={error} />}
          <SpacedRow>
            <Button type="submit" pending={running}>
              {t("code.look_action")}
            </Button>
            <Button tone="quiet" onClick={onCancel}>
              {t("code.back_action")}
            </Button>
          </SpacedRow>
        </Stack>
      </Card>
    </form>
  );

  /** Names unknown words by position, since the error contains no words. */
  function describeProblem({ details: { words, unknown } }: PortalError): string {
    if (typeof words === "number") return t("code.count_error", { count: words });
    if (!Array.isArray(unknown)) return t("code.checksum_error");
    const enteredWords =
      code
        .normalize("NFC")
        .toLowerCase()
        .match(/\p{L}+/gu) ??
      code.match(/\d+/gu) ??
      [];
    const unknownWords = unknown.map((position) =>
      t("code.word_body", { word: enteredWords[Number(position) - 1] ?? "", number: Number(position) }),
    );
    return t("code.unknown_error", { words: unknownWords.join(", "), count: unknownWords.length });
  }
}
