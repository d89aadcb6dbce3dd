import type { Channel } from "@relicario/shared/contract";
import { createElementVault } from "@relicario/vault/element";
import { createRoot } from "react-dom/client";
import { createGlobalStyle } from "styled-components";

import { CameraWindowSettings } from "../camera/camera-window.ts";
import { CameraWindow } from "../camera/CameraWindow.tsx";
import { createElementI18n, ElementShell, type ShellOptions } from "./ElementShell.tsx";

export interface WindowOptions extends ShellOptions {
  /** To the element that opened the window. */
  readonly page: Channel;
  /** To the controller. */
  readonly port: MessagePort;
}

/** Starts a window of the camera: [Note: Camera window]. */
export async function startCameraWindow({ page, port, branding, drives, texts }: WindowOptions): Promise<void> {
  const { use, language, theme } = CameraWindowSettings.parse(await page.call("elementPage", ["start"]));
  const vault = createElementVault(port, null);
  window.addEventListener("pagehide", vault.disconnect);
  vault.onLock(() => {
    window.close();
  });
  const i18n = await createElementI18n({ branding, texts }, language);
  const tellOpener = (name: string, ...args: readonly unknown[]): void => {
    page.call("elementPage", [name], args).catch(() => undefined); // the element is gone
  };
  const root = document.getElementById("root");
  if (root === null) throw new TypeError("the document has no root");
  createRoot(root).render(
    <ElementShell {...{ i18n, language, theme, branding, drives, vault }} userName="">
      <WindowStyle />
      <main>
        <CameraWindow
          use={use}
          onDone={(result) => {
            tellOpener("done", result);
          }}
          onFailed={(problem) => {
            tellOpener("endCamera", problem);
          }}
          onCancel={() => {
            tellOpener("cancel");
          }}
        />
      </main>
    </ElementShell>,
  );
}

const WindowStyle = createGlobalStyle`
  body { margin: 16px; }
`;
