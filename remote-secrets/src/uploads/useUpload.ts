import { usePortal, type OpenerHandle, type PendingUpload, type Vault } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";
import { runUnlocked, useVaultOperation, type OperationOptions, type OperationPlan } from "@relicario/shared/forms";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { secretKeys } from "../data/keys.ts";

export type OpenerReason = "opener_needed" | "show_opener_first";

/**
 * Resumes, restarts and discards an upload. The upload continues after the screen is left, and
 * stays in the list.
 *
 * @param imageCount number of recovery images in use
 */
export function useUpload(vault: Vault, { uploadId }: PendingUpload, imageCount: number) {
  const { t } = useTranslation("file-upload");
  const { user, notify } = usePortal();
  const client = useQueryClient();
  const operation = useVaultOperation({ vault });
  const discardOperation = useVaultOperation();
  const [openerReason, setOpenerReason] = useState<OpenerReason>("show_opener_first");
  const refetch = () => void client.invalidateQueries({ queryKey: secretKeys.all(user.userId) });
  const notifyPublished = () => {
    notify({ tone: "success", text: t("waiting.done_status") });
  };
  const start = (run: OperationPlan<unknown>["run"]) => {
    operation.start({
      run,
      continues: true,
      onDone: notifyPublished,
      onLateResult: notifyPublished,
      onSettled: refetch,
    });
  };

  /** Resumes without a signal, because aborting an upload would delete it. */
  const resumeWithOpener = async (file: Blob | null, opener: OpenerHandle | null, { onProgress }: OperationOptions) => {
    if (opener !== null && openerReason === "show_opener_first") await vault.unlock(opener, { onProgress });
    else if (opener !== null) {
      const name = t("waiting.opener_name_body", { number: imageCount + 1 });
      return vault.resumeUpload(uploadId, file, {
        onProgress,
        protection: { kind: "picture", picture: opener, name },
      });
    }
    try {
      return await vault.resumeUpload(uploadId, file, { onProgress });
    } catch (error) {
      setOpenerReason(isPortalError(error, "opener_needed") ? "opener_needed" : "show_opener_first");
      throw isPortalError(error, "opener_needed") ? new PortalError("show_opener_first", { cause: error }) : error;
    }
  };
  return {
    operation,
    error: operation.error ?? discardOperation.error,
    openerReason: operation.asksOpener ? openerReason : null,
    resume: (file: Blob | null) => {
      start((options, opener) => resumeWithOpener(file, opener, options));
    },
    restart: (file: Blob) => {
      setOpenerReason("show_opener_first");
      start(runUnlocked(vault, ({ onProgress }) => vault.restartUpload(uploadId, file, { onProgress })));
    },
    discard: () => {
      discardOperation.start({ run: () => vault.discardUpload(uploadId), onSettled: refetch });
    },
  };
}
