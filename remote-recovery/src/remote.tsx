import type { RemoteModule } from "@relicario/shared/contract";

import { createVault } from "./vault/create-vault.ts";

const provideImageRecovery = () => import("./recover/ProvideImageRecoveryPage.tsx");
const welcomeBackup = () => import("./backup/WelcomeBackupPage.tsx");
const provideImage = () => import("./picture/ProvideImagePage.tsx");
const toAddSecret = () => import("./backup/ToAddSecretPage.tsx");

const remote: RemoteModule = {
  name: "recovery",
  contract: "^1",
  routes: [
    { path: "/welcome-backup", load: welcomeBackup },
    { path: "/welcome", load: welcomeBackup },
    { path: "/provide-image", load: provideImage },
    { path: "/upload-image", load: provideImage },
    { path: "/provide-secret", load: toAddSecret },
    { path: "/processing", load: toAddSecret },
    { path: "/congrats", load: () => import("./backup/CongratsPage.tsx") },
    { path: "/safeguard", load: () => import("./safeguard/SafeguardPage.tsx") },
    { path: "/welcome-recovery", load: () => import("./recover/WelcomeRecoveryPage.tsx") },
    { path: "/provide-image-recovery", load: provideImageRecovery },
    { path: "/processing-recovery", load: provideImageRecovery },
    { path: "/congrats-recover", load: () => import("./recover/CongratsRecoverPage.tsx") },
  ],
  namespaces: ["welcome", "provide-image", "processing", "safeguard", "congrats", "image-recovery", "beta-recover"],
  capabilities: ["http", "vault", "user", "notify", "confirm", "navigate"],
  provides: { vault: createVault },
};

export default remote;
