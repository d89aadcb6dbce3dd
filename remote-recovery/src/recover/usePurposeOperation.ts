import { usePortal, type OpenedSecret, type OpenerHandle, type Vault } from "@relicario/shared/contract";
import { useVaultOperation, type OperationOptions } from "@relicario/shared/forms";
import { PortalError } from "@relicario/shared/errors";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useState } from "react";

import { setOpenedSecret } from "./opened-secret.ts";
import type { Purpose } from "./purpose.ts";

/**
 * Runs the purpose's operation once the vault is loaded. Unmounting cancels it.
 *
 * @param openerHandle null to open with the opener that is kept open
 */
export function usePurposeOperation(vault: Vault | null, purpose: Purpose, openerHandle: OpenerHandle | null) {
  const portal = usePortal();
  const queryClient = useQueryClient();
  const operation = useVaultOperation();
  const [isDone, setIsDone] = useState(false);
  const start = useEffectEvent((readyVault: Vault) => {
    operation.start({
      run: (options) => runOperation(readyVault, purpose, openerHandle, options),
      onDone: (secret) => {
        if (purpose.kind === "check_copy") void queryClient.invalidateQueries(); // lists show the date of the check
        if (secret !== null) setOpenedSecret(secret, portal);
        setIsDone(true);
      },
      onLateResult: (secret) => {
        secret?.dispose();
      },
    });
  });
  useEffect(() => {
    if (vault !== null) start(vault);
  }, [vault]);
  return { progress: operation.progress, error: operation.error, isDone };
}

async function runOperation(
  vault: Vault,
  purpose: Purpose,
  openerHandle: OpenerHandle | null,
  options: OperationOptions,
): Promise<OpenedSecret | null> {
  if (purpose.kind === "recover") {
    const { secretId, version } = purpose;
    return vault.openSecret(secretId, openerHandle, version === null ? options : { ...options, version });
  }
  if (openerHandle === null) throw new PortalError("show_opener_first");
  if (purpose.kind === "unlock") {
    await vault.unlock(openerHandle, options);
    return null;
  }
  await vault.checkCopy(purpose.secretId, openerHandle, options);
  return null;
}
