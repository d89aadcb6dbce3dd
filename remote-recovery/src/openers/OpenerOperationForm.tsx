import type { CallOptions, OpenerHandle, Vault } from "@relicario/shared/contract";
import { OpenerPrompt, useVaultOperation } from "@relicario/shared/forms";
import { useQueryClient } from "@tanstack/react-query";

interface OpenerOperationFormProps<Result> {
  readonly vault: Vault;
  readonly label: string;
  readonly danger?: boolean;
  readonly pictureOnly?: boolean;
  /** The operation's result keeps the opener handle, and the result's owner must release it. */
  readonly takesOpener?: boolean;
  readonly runOperation: (openerHandle: OpenerHandle, options: CallOptions) => Promise<Result>;
  readonly onDone: (result: Result) => void;
  readonly onCancel: () => void;
}

/** Asks for an opener and runs an operation with that opener. Unmounting cancels the operation. */
export function OpenerOperationForm<Result>({
  vault,
  label,
  danger = false,
  pictureOnly = false,
  takesOpener = false,
  runOperation,
  onDone,
  onCancel,
}: OpenerOperationFormProps<Result>) {
  const queryClient = useQueryClient();
  const operation = useVaultOperation({ vault, asksOpener: true });
  const handleSubmit = () => {
    operation.startWithOpener({
      run: (options, openerHandle) => runOperation(openerHandle, options),
      takesOpener,
      onDone,
      // even a failed operation may have re-sealed rows of other screens
      onSettled: () => void queryClient.invalidateQueries(),
    });
  };
  return (
    <OpenerPrompt
      vault={vault}
      operation={operation}
      label={label}
      tone={danger ? "danger" : "primary"}
      pictureOnly={pictureOnly}
      initialPhase="fetching"
      onSubmit={handleSubmit}
      onClose={onCancel}
    />
  );
}
