import type { RemoteModule } from "@relicario/shared/contract";

import { tours } from "./tours.ts";

const loadEditPage = () => import("./edit/EditSecretPage.tsx");
const loadListPage = () => import("./list/SecretsPage.tsx");

const remote: RemoteModule = {
  routes: {
    "/home": () => import("./home/HomePage.tsx"),
    "/add-secret": () => import("./add/AddSecretPage.tsx"),
    "/edit-secret": loadEditPage,
    "/edit-secret/:secretId": loadEditPage,
    "/secret-history/:secretId": () => import("./history/HistoryPage.tsx"),
    "/secrets": loadListPage,
    "/user-secrets": loadListPage,
  },
  tours,
};

export default remote;
