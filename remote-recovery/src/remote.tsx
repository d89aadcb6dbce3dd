import type { RemoteModule } from "@relicario/shared/contract";
import { createVault } from "@relicario/vault";
import { createVisitor } from "@relicario/vault/visitor";

import { registerExaminer } from "./picture/examiner.ts";
import { LazyPictureField, SharePictureField } from "./picture/LazyPictureField.tsx";
import { tours } from "./tours.ts";

const backup = () => import("./backup/BackupFlowPage.tsx");
const recovery = () => import("./recover/RecoveryFlowPage.tsx");

const remote: RemoteModule = {
  routes: {
    "/welcome-backup": backup,
    "/welcome": backup,
    "/provide-image": backup,
    "/upload-image": backup,
    "/provide-secret": backup,
    "/processing": backup,
    "/congrats": () => import("./backup/CongratsPage.tsx"),
    "/safeguard": () => import("./safeguard/SafeguardPage.tsx"),
    "/another-device": () => import("./devices/AnotherDevicePage.tsx"),
    "/new-device": () => import("./devices/NewDevicePage.tsx"),
    "/openers": () => import("./openers/OpenersPage.tsx"),
    "/start-anew": () => import("./reset-account/AccountResetPage.tsx"),
    "/welcome-recovery": () => import("./recover/WelcomeRecoveryPage.tsx"),
    "/provide-image-recovery": recovery,
    "/processing-recovery": recovery,
    "/congrats-recover": () => import("./recover/CongratsRecoverPage.tsx"),
  },
  tours,
  provides: {
    vault: async (portal) => {
      const { vault, examine } = await createVault(portal, LazyPictureField);
      registerExaminer(vault, examine);
      return vault;
    },
    visitor: async (portal) => Object.freeze({ ...(await createVisitor(portal)), PictureField: SharePictureField }),
  },
};

export default remote;
