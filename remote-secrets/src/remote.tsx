import type { RemoteModule } from "@relicario/shared/contract";

import { tours } from "./tours.ts";

const list = () => import("./list/SecretsPage.tsx");

const remote: RemoteModule = {
  name: "secrets",
  contract: "^1",
  routes: [
    { path: "/home", load: () => import("./home/HomePage.tsx") },
    { path: "/add-secret", load: () => import("./add/AddSecretPage.tsx") },
    { path: "/edit-secret/:secretId", load: () => import("./edit/EditSecretPage.tsx") },
    { path: "/secret-history/:secretId", load: () => import("./history/HistoryPage.tsx") },
    { path: "/secrets", load: list },
    { path: "/user-secrets", load: list },
  ],
  namespaces: ["beta-home", "beta-add-secret", "file-upload", "ad-banner"],
  tours,
  capabilities: ["http", "vault", "user", "notify", "confirm", "navigate"],
};

export default remote;
