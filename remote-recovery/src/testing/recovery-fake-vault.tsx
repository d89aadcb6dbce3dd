import { usePortal, type OpenerHandle } from "@relicario/shared/contract";
import { PortalError, type ErrorCode } from "@relicario/shared/errors";
import { createFakeVault, type FakeVault, type FakeVaultSettings } from "@relicario/shared/testing";
import { createHandle, getHeldId } from "@relicario/vault";
import type { ElementVault, PictureVerdict, PresentedOpener } from "@relicario/vault/element";
import { createHeldOpeners } from "@relicario/vault/held-openers";
import { Suspense, useEffect, useRef, useState } from "react";

import { ElementView } from "../element-views/ElementView.tsx";
import { createPictureField } from "../elements/PictureField.tsx";
import { registerVaultElement } from "../elements/vault-elements.tsx";
import type { VaultElementProps } from "../elements/VaultElement.tsx";

export interface RecoveryFakeVaultSettings extends FakeVaultSettings {
  /** Verdicts by the picture's text. By default `green`, and known if it is one of `images`. */
  readonly verdicts?: Readonly<Record<string, Partial<PictureVerdict>>>;
  /** Judges pictures instead. */
  readonly examine?: ElementVault["examine"];
}

export interface RecoveryFakeVault extends FakeVault {
  readonly examinedPictures: readonly Blob[];
  /** Makes all further examinations fail. */
  readonly failExaminations: (code: ErrorCode) => void;
  /** Creates a handle, as an element does. */
  readonly present: (opener: PresentedOpener) => OpenerHandle;
  /** What a handle stands for; null for a released one. */
  readonly getPresented: (handle: OpenerHandle) => PresentedOpener | null;
}

/** A fake vault with the real elements, which here are in the page, and the real held openers. */
export function createRecoveryFakeVault({
  verdicts = {},
  examine: customExamine,
  ...settings
}: RecoveryFakeVaultSettings = {}): RecoveryFakeVault {
  const lockListeners = new Set<() => void>();
  const releaseListeners = new Set<(id: string) => void>();
  const held = createHeldOpeners(() => {
    for (const listener of lockListeners) listener();
  });
  /** For a new passphrase, which is for the picture that is presented beside it. */
  let lastPictureIds: readonly string[] = [];
  const requireOpener = (ids: readonly string[]): PresentedOpener | null => {
    try {
      return held.requireAll(ids.map((id) => [null, id] as const))[0]?.[1] ?? null;
    } catch {
      return null;
    }
  };
  const resolveHandle = (handle: OpenerHandle): PresentedOpener => {
    const heldId = getHeldId(handle);
    if (heldId === null) throw new PortalError("picture_needed");
    const presentedOpener = requireOpener([heldId]) ?? requireOpener([heldId, ...lastPictureIds]);
    if (presentedOpener === null) throw new PortalError("picture_needed");
    if ("picture" in presentedOpener) lastPictureIds = [heldId];
    return presentedOpener;
  };
  const fakeVault = createFakeVault({ ...settings, resolveHandle });
  const examinedPictures: Blob[] = [];
  let failure: ErrorCode | null = null;

  const examine: NonNullable<ElementVault["examine"]> = async (picture) => {
    examinedPictures.push(picture);
    if (failure !== null) throw new PortalError(failure);
    const text = await readText(picture);
    const knownImage = settings.images?.find((candidate) => candidate.picture === text);
    const image =
      knownImage === undefined
        ? undefined
        : (await fakeVault.listImages()).find(({ name }) => name === knownImage.name);
    const known =
      image === undefined
        ? null
        : ({ kind: "same", image, passphrase: knownImage?.passphrase === undefined ? "none" : "needed" } as const);
    return { level: "green", reasons: [], width: 4000, height: 3000, known, ...verdicts[text] };
  };
  const elementVault: ElementVault = {
    examine: customExamine ?? examine,
    hold: (...args) => Promise.resolve(held.hold(...args)),
    getDraft: (id) => Promise.resolve(held.getDraft(id)),
    release: held.release,
    generateRecoveryCode: () => fakeVault.generateRecoveryCode(),
    mark: null, // tested by mark.test.tsx
    getMarkQuestion: () => Promise.resolve(null),
    answerMark: () => Promise.resolve(),
    // opened contents have the view of the fake vault
    readOpened: () => Promise.reject(new PortalError("vault_locked")),
    saveOpened: () => Promise.reject(new PortalError("vault_locked")),
    exportAgeFile: () => Promise.reject(new PortalError("vault_locked")),
    disconnect: () => undefined,
    onControllerGone: () => undefined,
    onLock: (listener) => {
      lockListeners.add(listener);
      return () => {
        lockListeners.delete(listener);
      };
    },
    onRelease: (listener) => {
      releaseListeners.add(listener);
      return () => {
        releaseListeners.delete(listener);
      };
    },
  };

  function InlineElement({
    field,
    heldId = null,
    disabled = false,
    onChange,
    onSearch,
    onCancel,
    onDeviceCode,
  }: VaultElementProps) {
    const { user, vendor, onLock } = usePortal();
    useEffect(() => onLock(held.releaseAll), [onLock]);
    const [initialDraft] = useState(() => (heldId === null ? null : held.getDraft(heldId)));
    const container = useRef<HTMLDivElement>(null);
    const latest = useRef({ onChange, onSearch, onCancel });
    latest.current = { onChange, onSearch, onCancel };
    return (
      <div ref={container}>
        <Suspense fallback={null}>
          <ElementView
            settings={{ field, disabled, userName: user.userName }}
            initialDraft={initialDraft}
            productName={vendor.branding.productName}
            portalOrigin="https://portal.example.org"
            vault={elementVault}
            onChange={(state) => {
              latest.current.onChange(state);
            }}
            onSearch={(hintedId, hint) => latest.current.onSearch?.(hintedId, hint)}
            onSubmit={() => container.current?.closest("form")?.requestSubmit()}
            onCancel={() => latest.current.onCancel?.()}
            onDeviceCode={(words) => onDeviceCode?.(words)}
            onCopied={() => Promise.resolve()}
          />
        </Suspense>
      </div>
    );
  }

  const releaseOpener = (handle: OpenerHandle): void => {
    const heldId = getHeldId(handle);
    if (heldId === null) return;
    held.release(heldId);
    for (const listener of releaseListeners) listener(heldId);
  };
  const vault: RecoveryFakeVault = Object.freeze({
    ...fakeVault,
    PictureField: createPictureField(InlineElement, releaseOpener),
    releaseOpener,
    lock: async () => {
      held.releaseAll();
      await fakeVault.lock();
    },
    examinedPictures,
    failExaminations: (code: ErrorCode) => {
      failure = code;
    },
    present: (opener: PresentedOpener) => createHandle(held.hold({ opener, draft: null })),
    getPresented: (handle: OpenerHandle) => {
      try {
        return resolveHandle(handle);
      } catch {
        return null;
      }
    },
  });
  registerVaultElement(vault, InlineElement);
  return vault;
}

/** jsdom's Blob has no `text()`. */
function readText(blob: Blob): Promise<string> {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => {
      resolve(typeof reader.result === "string" ? reader.result : "");
    };
    reader.readAsText(blob);
  });
}
