import type { RemoteModule } from "@relicario/shared/contract";

import { tours } from "./tours.ts";

const edit = () => import("./edit/EditSecretPage.tsx");
const list = () => import("./list/SecretsPage.tsx");

const remote: RemoteModule = {
  routes: {
    "/home": () => import("./home/HomePage.tsx"),
    "/add-secret": () => import("./add/AddSecretPage.tsx"),
    "/edit-secret": edit,
    "/edit-secret/:secretId": edit,
    "/secret-history/:secretId": () => import("./history/HistoryPage.tsx"),
    "/secrets": list,
    "/user-secrets": list,
  },
  tours,
};

export default remote;
