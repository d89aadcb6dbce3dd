import { Stack } from "@relicario/shared/ui";
import type { ElementSettings, ElementState, ElementVault } from "@relicario/vault/element";
import type { SearchHint } from "@relicario/vault/element-protocol";
import { Fragment, useEffect, useState, type KeyboardEvent } from "react";

import { VaultMark } from "../mark/VaultMark.tsx";
import { OpenedContentView } from "../opened/OpenedContentView.tsx";
import { createInputReporter } from "./element-input.ts";
import { MarkQuestionElement } from "./MarkQuestionElement.tsx";
import { NewPasskeyElement } from "./NewPasskeyElement.tsx";
import { NewPassphraseElement } from "./NewPassphraseElement.tsx";
import { NewRecoveryCodeElement } from "./NewRecoveryCodeElement.tsx";
import { PictureElement, PictureElementDraft } from "./PictureElement.tsx";
import { ScanDeviceCodeElement } from "./ScanDeviceCodeElement.tsx";

export interface ElementViewProps {
  readonly settings: Pick<ElementSettings, "field" | "disabled" | "userName">;
  /** State of an earlier element; null without one. */
  readonly initialDraft: unknown;
  readonly productName: string;
  readonly portalOrigin: string;
  readonly vault: ElementVault;
  readonly onChange: (state: ElementState) => void;
  readonly onSearch: (heldId: string, hint: SearchHint) => void;
  readonly onSubmit: () => void;
  readonly onCancel: () => void;
  readonly onDeviceCode: (words: string) => void;
  /** The person copied a content. Resolves when the clipboard was cleared. */
  readonly onCopied: () => Promise<void>;
}

/** An element inside the vault's origin: see [Note: Elements of the vault]. */
export function ElementView({
  settings: { field, disabled, userName },
  initialDraft,
  productName,
  portalOrigin,
  vault,
  onChange,
  onSearch,
  onSubmit,
  onCancel,
  onDeviceCode,
  onCopied,
}: ElementViewProps) {
  const [turn, setTurn] = useState(0);
  const [settledTurn, setSettledTurn] = useState(0);
  const [clearCount, setClearCount] = useState(0);
  const [reporter] = useState(() =>
    createInputReporter({ vault, onChange, onTurn: setTurn, onSettled: setSettledTurn }),
  );
  const openedId = field.kind === "opened" ? field.openedId : null;
  useEffect(() => {
    const clear = (): void => {
      reporter.clear();
      setClearCount((count) => count + 1); // remounts the field, which ends its camera and passkey
    };
    const stops = [
      vault.onLock(clear),
      vault.onRelease((id) => {
        if (reporter.isHeldAs(id) || id === openedId) clear();
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, [vault, reporter, openedId]);
  const handleKeyDown = (event: KeyboardEvent) => {
    const { target } = event;
    if (event.key !== "Enter" || !(target instanceof HTMLInputElement) || !textTypes.includes(target.type)) return;
    event.preventDefault();
    void reporter.settle().then(onSubmit);
  };
  const input = <Fragment key={clearCount}>{renderField()}</Fragment>;
  return (
    <Stack $gap={3} onKeyDown={handleKeyDown} data-turn={turn} data-settled-turn={settledTurn}>
      {vault.mark === null || field.kind === "mark_question" || field.kind === "opened" ? (
        input
      ) : (
        <VaultMark mark={vault.mark}>{input}</VaultMark>
      )}
    </Stack>
  );

  function renderField() {
    const props = { disabled, onInput: reporter.report };
    switch (field.kind) {
      case "picture":
        return (
          <PictureElement
            {...props}
            vault={vault}
            field={field}
            portalOrigin={portalOrigin}
            initialDraft={clearCount === 0 ? (PictureElementDraft.safeParse(initialDraft).data ?? null) : null}
            onSearch={(opener, hint) => {
              void vault.hold({ opener, draft: null }).then((hintedId) => {
                onSearch(hintedId, hint);
              });
            }}
          />
        );
      case "new_passphrase":
        return <NewPassphraseElement {...props} />;
      case "new_passkey":
        return <NewPasskeyElement {...props} {...{ userName, productName, portalOrigin }} />;
      case "new_recovery_code":
        return <NewRecoveryCodeElement {...props} vault={vault} onCancel={onCancel} />;
      case "mark_question":
        return <MarkQuestionElement questionId={field.questionId} vault={vault} onClose={onCancel} />;
      case "device_code_scan":
        return <ScanDeviceCodeElement disabled={disabled} onDeviceCode={onDeviceCode} />;
      case "opened":
        return (
          <OpenedContentView openedId={field.openedId} title={field.title} vault={vault} clearClipboard={onCopied} />
        );
    }
  }
}

const textTypes: readonly string[] = ["text", "password"];
