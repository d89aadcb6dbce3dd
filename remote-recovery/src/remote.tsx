import type { RemoteModule } from "@relicario/shared/contract";
import { createVault } from "@relicario/vault";
import { createVisitor } from "@relicario/vault/visitor";

import { keepExaminer } from "./picture/examiner.ts";
import { PictureFieldLater, SharePictureField } from "./picture/PictureFieldLater.tsx";

const provideImageRecovery = () => import("./recover/ProvideImageRecoveryPage.tsx");
const welcomeBackup = () => import("./backup/WelcomeBackupPage.tsx");
const provideImage = () => import("./picture/ProvideImagePage.tsx");
const toAddSecret = () => import("./backup/ToAddSecretPage.tsx");

const remote: RemoteModule = {
  routes: {
    "/welcome-backup": welcomeBackup,
    "/welcome": welcomeBackup,
    "/provide-image": provideImage,
    "/upload-image": provideImage,
    "/provide-secret": toAddSecret,
    "/processing": toAddSecret,
    "/congrats": () => import("./backup/CongratsPage.tsx"),
    "/safeguard": () => import("./safeguard/SafeguardPage.tsx"),
    "/welcome-recovery": () => import("./recover/WelcomeRecoveryPage.tsx"),
    "/provide-image-recovery": provideImageRecovery,
    "/processing-recovery": provideImageRecovery,
    "/congrats-recover": () => import("./recover/CongratsRecoverPage.tsx"),
  },
  provides: {
    vault: async (portal) => {
      const { examine, ...acts } = await createVault(portal);
      const vault = Object.freeze({ ...acts, PictureField: PictureFieldLater });
      keepExaminer(vault, examine);
      return vault;
    },
    visitor: async (portal) => Object.freeze({ ...(await createVisitor(portal)), PictureField: SharePictureField }),
  },
};

export default remote;
