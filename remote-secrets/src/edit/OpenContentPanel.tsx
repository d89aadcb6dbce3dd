import type { OpenedSecret, OpenerHandle, Vault, VaultProgress } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { FieldError } from "@relicario/shared/forms";
import {
  Button,
  ErrorNotice,
  Notice,
  Progress,
  SpacedRow,
  Stack,
  useErrorMessage,
  useOpenerHandle,
} from "@relicario/shared/ui";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

interface OpenContentPanelProps {
  readonly vault: Vault;
  readonly secretId: string;
  /** Receives the text; the decrypted bytes are already overwritten. */
  readonly onOpened: (text: string) => void;
  /**
   * Receives the picture that opened it, and forgets it when it is done; left out: it is forgotten
   * here.
   */
  readonly onOpenerHandedOver?: (openerHandle: OpenerHandle) => void;
  readonly onClose: () => void;
}

/**
 * Asks for a picture and decrypts the content with it. An unlocked vault is not enough: each
 * content is sealed to its openers.
 */
export function OpenContentPanel({ vault, secretId, onOpened, onOpenerHandedOver, onClose }: OpenContentPanelProps) {
  const { t } = useTranslation("beta-add-secret");
  const describeError = useErrorMessage();
  const { openerHandle, setOpenerHandle, handOver } = useOpenerHandle(vault);
  const [pictureMissing, setPictureMissing] = useState(false);
  const { opening, open, cancel } = useOpenText(vault, secretId, (text, handle) => {
    if (onOpenerHandedOver !== undefined) {
      handOver(handle);
      onOpenerHandedOver(handle);
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
        value={openerHandle}
        disabled={running}
        onChange={(value) => {
          setOpenerHandle(value);
          setPictureMissing(false);
        }}
      />
      {pictureMissing && <FieldError>{t("open.missing_error")}</FieldError>}
      {wrongPicture ? (
        <Notice tone="warn" role="alert">
          {describeError(failure)}
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
            setPictureMissing(openerHandle === null);
            if (openerHandle !== null) void open(openerHandle);
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

type OpeningState =
  | { readonly status: "idle" }
  | { readonly status: "running"; readonly progress: VaultProgress | null }
  | { readonly status: "failed"; readonly error: PortalError };

function useOpenText(vault: Vault, secretId: string, onOpened: (text: string, openerHandle: OpenerHandle) => void) {
  const [opening, setOpening] = useState<OpeningState>({ status: "idle" });
  const abortController = useRef<AbortController | null>(null);
  useEffect(() => () => abortController.current?.abort(), []);
  const open = async (openerHandle: OpenerHandle): Promise<void> => {
    const controller = new AbortController();
    abortController.current = controller;
    setOpening({ status: "running", progress: null });
    try {
      const text = await openText(vault, secretId, openerHandle, controller.signal, (progress) => {
        if (!controller.signal.aborted) setOpening({ status: "running", progress });
      });
      if (controller.signal.aborted) return;
      setOpening({ status: "idle" });
      onOpened(text, openerHandle);
    } catch (error) {
      setOpening(controller.signal.aborted ? { status: "idle" } : { status: "failed", error: toPortalError(error) });
    }
  };
  const cancel = () => {
    abortController.current?.abort();
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
  openerHandle: OpenerHandle,
  signal: AbortSignal,
  onProgress: (progress: VaultProgress) => void,
): Promise<string> {
  const recovered: OpenedSecret = await vault.openSecret(secretId, openerHandle, { signal, onProgress });
  try {
    return new TextDecoder().decode(recovered.content ?? new Uint8Array());
  } finally {
    recovered.content?.fill(0);
    recovered.dispose();
  }
}
