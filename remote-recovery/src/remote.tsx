import type { Channel, RemoteModule } from "@relicario/shared/contract";
import { createFrameVault, createFrameVisitor, createOpenerRelease, type FrameComponents } from "@relicario/vault";
import type { ComponentType } from "react";

import { createMarkQuestion } from "./elements/mark-question.tsx";
import { createOpenedView } from "./elements/OpenedView.tsx";
import { createPictureField } from "./elements/PictureField.tsx";
import { registerVaultElement } from "./elements/vault-elements.tsx";
import { createVaultElement, type VaultElementProps } from "./elements/VaultElement.tsx";
import { tours } from "./tours.ts";

const loadBackupPage = () => import("./backup/BackupFlowPage.tsx");
const loadRecoveryPage = () => import("./recover/RecoveryFlowPage.tsx");

const remote: RemoteModule = {
  routes: {
    "/welcome-backup": loadBackupPage,
    "/welcome": loadBackupPage,
    "/provide-image": loadBackupPage,
    "/upload-image": loadBackupPage,
    "/provide-secret": loadBackupPage,
    "/processing": loadBackupPage,
    "/congrats": () => import("./backup/CongratsPage.tsx"),
    "/safeguard": () => import("./safeguard/SafeguardPage.tsx"),
    "/another-device": () => import("./devices/AnotherDevicePage.tsx"),
    "/new-device": () => import("./devices/NewDevicePage.tsx"),
    "/openers": () => import("./openers/OpenersPage.tsx"),
    "/start-anew": () => import("./reset-account/AccountResetPage.tsx"),
    "/welcome-recovery": () => import("./recover/WelcomeRecoveryPage.tsx"),
    "/provide-image-recovery": loadRecoveryPage,
    "/processing-recovery": loadRecoveryPage,
    "/congrats-recover": () => import("./recover/CongratsRecoverPage.tsx"),
  },
  tours,
  provides: {
    vault: async (portal) => {
      const channel = await portal.frame();
      const { vaultOrigin } = portal;
      let VaultElement = createVaultElement({ channel, vaultOrigin, vaultId: null });
      const vault = await createFrameVault(
        portal,
        channel,
        (vaultId) => {
          VaultElement = createVaultElement({ channel, vaultOrigin, vaultId });
          return createComponents(VaultElement, channel);
        },
        (questionId) => portal.showDialog(createMarkQuestion(VaultElement, questionId)),
      );
      registerVaultElement(vault, VaultElement);
      return vault;
    },
    visitor: async (portal) => {
      const channel = await portal.frame();
      const { vaultOrigin } = portal;
      const VaultElement = createVaultElement({ channel, vaultOrigin, vaultId: null });
      return createFrameVisitor(portal, channel, createComponents(VaultElement, channel, "share"));
    },
  },
};

function createComponents(
  VaultElement: ComponentType<VaultElementProps>,
  channel: Channel,
  purpose?: "share",
): FrameComponents {
  return {
    PictureField: createPictureField(VaultElement, createOpenerRelease(channel), purpose),
    createOpenedView: createOpenedView.bind(null, VaultElement),
  };
}

export default remote;
