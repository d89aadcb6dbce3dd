import type { RecoveredSecret, ShownImage, Vault, VaultProgress } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { FieldError } from "@relicario/shared/forms";
import {
  Button,
  ErrorNotice,
  Notice,
  Progress,
  SpacedRow,
  Stack,
  useErrorSentence,
  useShownImage,
} from "@relicario/shared/ui";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

interface OpenContentProps {
  readonly vault: Vault;
  readonly secretId: string;
  /** Receives the text; the decrypted bytes are already overwritten. */
  readonly onOpened: (text: string) => void;
  /**
   * Receives the picture that opened it, and forgets it when it is done; left out: it is forgotten
   * here.
   */
  readonly onHandedOver?: (shown: ShownImage) => void;
  readonly onClose: () => void;
}

/**
 * Asks for a picture and decrypts the content with it. An unlocked vault is not enough: each
 * content is sealed to its openers.
 */
export function OpenContent({ vault, secretId, onOpened, onHandedOver, onClose }: OpenContentProps) {
  const { t } = useTranslation("beta-add-secret");
  const sentence = useErrorSentence();
  const { shown, setShown, handOver } = useShownImage(vault);
  const [missing, setMissing] = useState(false);
  const { opening, open, cancel } = useOpenText(vault, secretId, (text, image) => {
    if (onHandedOver !== undefined) {
      handOver(image);
      onHandedOver(image);
    }
    onOpened(text);
  });
  const running = opening.status === "running";
  const failure = opening.status === "failed" ? opening.error : null;
  const wrongPicture = failure?.code === "not_this_picture" || failure?.code === "not_this_picture_or_passphrase";
  return (
    <Stack $gap={4} role="group" aria-label={t("open.group_aria")}>
      <vault.PictureField
        purpose="show"
        value={shown}
        disabled={running}
        onChange={(value) => {
          setShown(value);
          setMissing(false);
        }}
      />
      {missing && <FieldError>{t("open.missing_error")}</FieldError>}
      {wrongPicture ? (
        <Notice tone="warn" role="alert">
          {sentence(failure)}
        </Notice>
      ) : (
        <ErrorNotice error={failure} />
      )}
      {running && (
        <Progress
          label={t(`progress.${opening.progress?.phase ?? "picture"}_status`)}
          done={opening.progress?.done ?? 0}
          total={opening.progress?.total ?? 0}
        />
      )}
      <SpacedRow>
        <Button
          pending={running}
          onClick={() => {
            setMissing(shown === null);
            if (shown !== null) void open(shown);
          }}
        >
          {t("open.open_action")}
        </Button>
        <Button tone="quiet" onClick={running ? cancel : onClose}>
          {t("save.cancel_action")}
        </Button>
      </SpacedRow>
    </Stack>
  );
}

type Opening =
  | { readonly status: "idle" }
  | { readonly status: "running"; readonly progress: VaultProgress | null }
  | { readonly status: "failed"; readonly error: PortalError };

function useOpenText(vault: Vault, secretId: string, onOpened: (text: string, shown: ShownImage) => void) {
  const [opening, setOpening] = useState<Opening>({ status: "idle" });
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const open = async (shown: ShownImage): Promise<void> => {
    const controller = new AbortController();
    running.current = controller;
    setOpening({ status: "running", progress: null });
    try {
      const text = await openText(vault, secretId, shown, controller.signal, (progress) => {
        if (!controller.signal.aborted) setOpening({ status: "running", progress });
      });
      if (controller.signal.aborted) return;
      setOpening({ status: "idle" });
      onOpened(text, shown);
    } catch (error) {
      setOpening(controller.signal.aborted ? { status: "idle" } : { status: "failed", error: toPortalError(error) });
    }
  };
  const cancel = () => {
    running.current?.abort();
    setOpening({ status: "idle" });
  };
  return { opening, open, cancel };
}

/**
 * Decrypts a content as text, then overwrites the bytes and releases the opened secret in the
 * vault.
 */
export async function openText(
  vault: Vault,
  secretId: string,
  shown: ShownImage,
  signal: AbortSignal,
  onProgress: (progress: VaultProgress) => void,
): Promise<string> {
  const recovered: RecoveredSecret = await vault.recover(secretId, shown, { signal, onProgress });
  try {
    return new TextDecoder().decode(recovered.content ?? new Uint8Array());
  } finally {
    recovered.content?.fill(0);
    recovered.putAway();
  }
}
