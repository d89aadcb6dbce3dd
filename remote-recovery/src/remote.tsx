import type { RemoteModule } from "@relicario/shared/contract";
import { createFrameVault, createFrameVisitor, createOpenerRelease } from "@relicario/vault";

import { createMarkQuestion } from "./elements/mark-question.tsx";
import { createPictureField } from "./elements/PictureField.tsx";
import { registerVaultElement } from "./elements/vault-elements.tsx";
import { createVaultElement } from "./elements/VaultElement.tsx";
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
          return createPictureField(VaultElement, createOpenerRelease(channel));
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
      return createFrameVisitor(
        portal,
        channel,
        createPictureField(VaultElement, createOpenerRelease(channel), "share"),
      );
    },
  },
};

export default remote;
