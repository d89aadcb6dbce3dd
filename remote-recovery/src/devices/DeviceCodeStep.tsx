import type { RequestingDevice, Vault } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { Button, Card, ErrorNotice, Muted, SectionTitle, SpacedRow, Stack } from "@relicario/shared/ui";
import { useEffect, useRef, useState, type SyntheticEvent } from "react";
import { useTranslation } from "react-i18next";

import { focusOnMount } from "../flow/focus-on-mount.ts";
import { WordsField } from "../openers/WordsField.tsx";

interface DeviceCodeStepProps {
  readonly vault: Vault;
  readonly onFound: (code: string, requestingDevice: RequestingDevice) => void;
  readonly onCancel: () => void;
}

type LookupState = { readonly status: "typing"; readonly error: PortalError | null } | { readonly status: "looking" };

/** Takes the code of a new device, and looks who shows it. */
export function DeviceCodeStep({ vault, onFound, onCancel }: DeviceCodeStepProps) {
  const { t } = useTranslation("devices");
  const [code, setCode] = useState("");
  const [lookup, setLookup] = useState<LookupState>({ status: "typing", error: null });
  const activeController = useRef<AbortController | null>(null);
  useEffect(() => () => activeController.current?.abort(), []);
  const lookUpDevice = async (): Promise<void> => {
    const controller = new AbortController();
    activeController.current = controller;
    setLookup({ status: "looking" });
    try {
      const requestingDevice = await vault.deviceLinks.inspect(code, { signal: controller.signal });
      if (!controller.signal.aborted) onFound(code, requestingDevice);
    } catch (error) {
      if (!controller.signal.aborted) setLookup({ status: "typing", error: toPortalError(error) });
    }
  };
  const handleSubmit = (event: SyntheticEvent) => {
    event.preventDefault();
    void lookUpDevice();
  };
  const busy = lookup.status === "looking";
  const error = lookup.status === "typing" ? lookup.error : null;
  const unreadable = error?.code === "device_code_unreadable";
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
            disabled={busy}
            error={unreadable ? describeProblem(error) : null}
            rows={3}
            onChange={(words) => {
              setCode(words);
              setLookup({ status: "typing", error: null });
            }}
          />
          {!unreadable && <ErrorNotice error={error} />}
          <SpacedRow>
            <Button type="submit" pending={busy}>
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

  /** Words by their places; which they are is known here alone. */
  function describeProblem({ details: { words, unknown } }: PortalError): string {
    if (typeof words === "number") return t("code.count_error", { count: words });
    if (!Array.isArray(unknown)) return t("code.checksum_error");
    const enteredWords = code
      .toLowerCase()
      .split(/[^\p{L}]+/u)
      .filter((word) => word !== "");
    const unknownWords = unknown.map((position) =>
      t("code.word_body", { word: enteredWords[Number(position) - 1] ?? "", number: Number(position) }),
    );
    return t("code.unknown_error", { words: unknownWords.join(", "), count: unknownWords.length });
  }
}
