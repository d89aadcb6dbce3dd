import type { RemoteModule } from "@relicario/shared/contract";

import { tours } from "./tours.ts";

const loadOpenPage = () => import("./open/OpenSharePage.tsx");

const remote: RemoteModule = {
  routes: {
    "/recived": () => import("./inbox/ReceivedPage.tsx"),
    "/people": () => import("./people/PeoplePage.tsx"),
    "/share/:secretId": () => import("./create/SharePage.tsx"),
    "/asked-for": () => import("./requests/RequestsPage.tsx"),
    "/ask-for-secret": () => import("./requests/CreateRequestPage.tsx"),
    "/request/:requestId": () => import("./provide/ProvidePage.tsx"),
    "/shared/:shareId": loadOpenPage,
    "/p-shared/:shareId": loadOpenPage,
    "/secret-landing": () => import("./landing/LandingPage.tsx"),
  },
  tours,
};

export default remote;
