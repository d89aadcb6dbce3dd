import type { CallOptions, OpenerHandle, Vault, VaultProgress } from "@relicario/shared/contract";
import { OperationProgress, FieldError } from "@relicario/shared/forms";
import { Button, ErrorNotice, SpacedRow, Stack, useOpenerHandle } from "@relicario/shared/ui";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

interface OpenerOperationFormProps<Result> {
  readonly vault: Vault;
  readonly label: string;
  readonly danger?: boolean;
  /** Only a picture will do. */
  readonly pictureOnly?: boolean;
  /** The act took what is shown: whoever has it forgets it. The next one is asked for. */
  readonly transfersHandle?: boolean;
  readonly operation: (openerHandle: OpenerHandle, options: CallOptions) => Promise<Result>;
  /** With what the act gave. */
  readonly onDone: (result: Result) => void;
  readonly onCancel: () => void;
}

type OperationState =
  | { readonly status: "asking"; readonly error: unknown }
  | { readonly status: "running"; readonly progress: VaultProgress | null };

/**
 * Asks for something that opens the account, and acts with it. Leaving the screen, or "cancel",
 * stops the act where it is.
 */
export function OpenerOperationForm<Result>({
  vault,
  label,
  danger = false,
  pictureOnly = false,
  transfersHandle = false,
  operation,
  onDone,
  onCancel,
}: OpenerOperationFormProps<Result>) {
  const { t } = useTranslation("openers");
  const queryClient = useQueryClient();
  const { openerHandle, setOpenerHandle, handOver } = useOpenerHandle(vault);
  const [openerMissing, setOpenerMissing] = useState(false);
  const [operationState, setOperationState] = useState<OperationState>({ status: "asking", error: null });
  const activeController = useRef<AbortController | null>(null);
  useEffect(() => () => activeController.current?.abort(), []);
  const runOperation = async (activeHandle: OpenerHandle): Promise<void> => {
    const controller = new AbortController();
    activeController.current = controller;
    setOperationState({ status: "running", progress: null });
    try {
      const result = await operation(activeHandle, {
        signal: controller.signal,
        onProgress: (progress) => {
          if (!controller.signal.aborted) setOperationState({ status: "running", progress });
        },
      });
      if (controller.signal.aborted) return;
      if (transfersHandle) {
        handOver(activeHandle);
        setOpenerHandle(null);
        setOperationState({ status: "asking", error: null });
      }
      onDone(result);
    } catch (error) {
      if (!controller.signal.aborted) setOperationState({ status: "asking", error });
    } finally {
      // it re-sealed rows that other screens show, some of them also when it failed
      void queryClient.invalidateQueries();
    }
  };
  const busy = operationState.status === "running";
  return (
    <Stack $gap={4}>
      <vault.PictureField
        purpose="show"
        pictureOnly={pictureOnly}
        value={openerHandle}
        disabled={busy}
        onChange={(nextHandle) => {
          setOpenerHandle(nextHandle);
          setOpenerMissing(false);
        }}
      />
      {openerMissing && <FieldError>{t(pictureOnly ? "show.no_picture_error" : "show.missing_error")}</FieldError>}
      {operationState.status === "asking" && <ErrorNotice error={operationState.error} />}
      {busy && <OperationProgress progress={operationState.progress} initialPhase="fetching" />}
      <SpacedRow>
        <Button
          tone={danger ? "danger" : "primary"}
          pending={busy}
          onClick={() => {
            setOpenerMissing(openerHandle === null);
            if (openerHandle !== null) void runOperation(openerHandle);
          }}
        >
          {label}
        </Button>
        <Button
          tone="quiet"
          onClick={() => {
            activeController.current?.abort();
            onCancel();
          }}
        >
          {t("show.cancel_action")}
        </Button>
      </SpacedRow>
    </Stack>
  );
}
