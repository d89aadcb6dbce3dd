import type { AskingDevice, Vault } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { Button, Card, ErrorNotice, Muted, SectionTitle, SpacedRow, Stack } from "@relicario/shared/ui";
import { useEffect, useRef, useState, type SyntheticEvent } from "react";
import { useTranslation } from "react-i18next";

import { takeFocus } from "../flow/take-focus.ts";
import { WordsField } from "../openers/WordsField.tsx";

interface DeviceCodeStepProps {
  readonly vault: Vault;
  readonly onFound: (code: string, asking: AskingDevice) => void;
  readonly onCancel: () => void;
}

type Looking = { readonly status: "typing"; readonly error: PortalError | null } | { readonly status: "looking" };

/** Takes the code of a new device, and looks who shows it. */
export function DeviceCodeStep({ vault, onFound, onCancel }: DeviceCodeStepProps) {
  const { t } = useTranslation("devices");
  const [typed, setTyped] = useState("");
  const [looking, setLooking] = useState<Looking>({ status: "typing", error: null });
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const look = async (): Promise<void> => {
    const own = new AbortController();
    running.current = own;
    setLooking({ status: "looking" });
    try {
      const asking = await vault.deviceLinks.look(typed, { signal: own.signal });
      if (!own.signal.aborted) onFound(typed, asking);
    } catch (error) {
      if (!own.signal.aborted) setLooking({ status: "typing", error: toPortalError(error) });
    }
  };
  const handleSubmit = (event: SyntheticEvent) => {
    event.preventDefault();
    void look();
  };
  const busy = looking.status === "looking";
  const error = looking.status === "typing" ? looking.error : null;
  const unreadable = error?.code === "device_code_unreadable";
  return (
    <form onSubmit={handleSubmit} noValidate>
      <Card aria-labelledby="device-code">
        <Stack $gap={4}>
          <SectionTitle ref={takeFocus} tabIndex={-1} id="device-code">
            {t("code.title")}
          </SectionTitle>
          <Muted>{t("code.body")}</Muted>
          <WordsField
            label={t("code.typed_label")}
            hint={t("code.typed_hint")}
            value={typed}
            disabled={busy}
            error={unreadable ? whatIsWrong(error) : null}
            rows={3}
            onChange={(next) => {
              setTyped(next);
              setLooking({ status: "typing", error: null });
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
  function whatIsWrong({ details: { words, unknown } }: PortalError): string {
    if (typeof words === "number") return t("code.count_error", { count: words });
    if (!Array.isArray(unknown)) return t("code.checksum_error");
    const all = typed
      .toLowerCase()
      .split(/[^\p{L}]+/u)
      .filter((word) => word !== "");
    const named = unknown.map((place) =>
      t("code.word_body", { word: all[Number(place) - 1] ?? "", number: Number(place) }),
    );
    return t("code.unknown_error", { words: named.join(", "), count: named.length });
  }
}
