/**
 * Script of the vault's elements, in the release of recovery. The element's own document has found
 * the controller, which verified this release, and calls `startVaultElement`; in a window that an
 * element opened, `startVaultWindow`.
 */
import "./element-views/runtime-settings.ts"; // before the first style and schema

import type { Channel, Deployment, Drives } from "@relicario/shared/contract";
import { createElementVault, type ElementVault } from "@relicario/vault/element";
import { ElementSettings } from "@relicario/vault/element-protocol";
import type { i18n as I18n } from "i18next";
import { useEffect, useRef, useSyncExternalStore } from "react";
import { createRoot } from "react-dom/client";
import { createGlobalStyle } from "styled-components";

import { ElementGuard } from "./element-views/ElementGuard.tsx";
import { createElementI18n, ElementShell, type ShellOptions } from "./element-views/ElementShell.tsx";
import { ElementView } from "./element-views/ElementView.tsx";
import type { WindowOptions } from "./element-views/start-camera-window.tsx";

declare global {
  var startVaultElement: ((options: VaultElementOptions) => void) | undefined;
  var startVaultWindow: ((options: WindowOptions) => void) | undefined;
}

export interface VaultElementOptions extends ShellOptions {
  /** To the portal's page. */
  readonly page: Channel;
  /** Of that page. */
  readonly portalOrigin: string;
  /** To the controller. */
  readonly port: MessagePort;
}

globalThis.startVaultElement = (options) => {
  void start(options);
};
globalThis.startVaultWindow = (options) => {
  void import("./element-views/start-camera-window.tsx").then(({ startCameraWindow }) => startCameraWindow(options));
};

async function start({ page, portalOrigin, port, branding, drives, texts }: VaultElementOptions): Promise<void> {
  const settings = createSettingsStore(ElementSettings.parse(await page.call("elementPage", ["start"])));
  const { language, vaultId, heldId } = settings.get();
  const vault = createElementVault(port, vaultId);
  window.addEventListener("pagehide", vault.disconnect);
  vault.onControllerGone(() => {
    window.location.reload();
  });
  page.serve("element", {
    update: (next: unknown) => {
      settings.set(ElementSettings.parse(next));
    },
  });
  const [initialDraft, i18n] = await Promise.all([
    heldId === null ? null : vault.getDraft(heldId),
    createElementI18n({ branding, texts }, language),
  ]);
  const root = document.getElementById("root");
  if (root === null) throw new TypeError("the document has no root");
  createRoot(root).render(
    <Element {...{ page, portalOrigin, settings, vault, branding, drives, i18n, initialDraft }} />,
  );
}

interface ElementProps {
  readonly page: Channel;
  readonly portalOrigin: string;
  readonly settings: SettingsStore;
  readonly vault: ElementVault;
  readonly branding: Deployment["branding"];
  readonly drives: Drives;
  readonly i18n: I18n;
  readonly initialDraft: unknown;
}

function Element({ page, portalOrigin, settings: store, vault, branding, drives, i18n, initialDraft }: ElementProps) {
  const settings = useSyncExternalStore(store.subscribe, store.get);
  const { language, theme, userName } = settings;
  const content = useRef<HTMLDivElement>(null);
  const tellPage = (name: string, ...args: readonly unknown[]): void => {
    page.call("elementPage", [name], args).catch(() => undefined); // the page is gone
  };
  useEffect(() => {
    if (content.current === null) return undefined;
    const { current } = content;
    let lastSize = "";
    const reportSize = (): void => {
      const corner = current.getBoundingClientRect();
      if (corner.height === 0) return; // still reads what it shows: the page keeps its placeholder
      const target = current.querySelector("[data-tour=picture-take]")?.getBoundingClientRect();
      const takePlace =
        target === undefined
          ? null
          : {
              left: target.left - corner.left,
              top: target.top - corner.top,
              width: target.width,
              height: target.height,
            };
      const size = [Math.ceil(corner.height), takePlace];
      if (JSON.stringify(size) === lastSize) return;
      lastSize = JSON.stringify(size);
      page.call("elementPage", ["resize"], size).catch(() => undefined); // the page is gone
    };
    // The page makes room before it hears of the change that needs it, also while a frame that is
    // out of sight is not rendered.
    const mutationObserver = new MutationObserver(reportSize);
    mutationObserver.observe(current, { subtree: true, childList: true, attributes: true, characterData: true });
    const resizeObserver = new ResizeObserver(reportSize);
    resizeObserver.observe(current);
    reportSize();
    return () => {
      mutationObserver.disconnect();
      resizeObserver.disconnect();
    };
  }, [page]);
  return (
    <ElementShell {...{ i18n, language, theme, userName, branding, drives, vault }}>
      <ElementStyle />
      <div ref={content}>
        <ElementGuard tracksCover={settings.field.kind === "mark_question"}>
          <ElementView
            settings={settings}
            initialDraft={initialDraft}
            productName={branding.product_name}
            portalOrigin={portalOrigin}
            vault={vault}
            onChange={(state) => {
              tellPage("change", state);
            }}
            onSearch={(heldId, hint) => {
              tellPage("search", heldId, hint);
            }}
            onSubmit={() => {
              tellPage("submit");
            }}
            onCancel={() => {
              tellPage("cancel");
            }}
            onDeviceCode={(words) => {
              tellPage("deviceCode", words);
            }}
            onCopied={async () => {
              await page.call("elementPage", ["copied"]);
            }}
          />
        </ElementGuard>
      </div>
    </ElementShell>
  );
}

/** The page shows through. Its frame is larger than the content by this margin, for outlines. */
const ElementStyle = createGlobalStyle`
  html { overflow: hidden; background: transparent; }
  body { min-height: 0; margin: 4px; background: transparent; }
`;

interface SettingsStore {
  readonly get: () => ElementSettings;
  readonly set: (settings: ElementSettings) => void;
  readonly subscribe: (listener: () => void) => () => void;
}

function createSettingsStore(initial: ElementSettings): SettingsStore {
  const listeners = new Set<() => void>();
  let settings = initial;
  return {
    get: () => settings,
    set: (next) => {
      settings = next;
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}
