import type { RemoteModule } from "@relicario/shared/contract";

import { tours } from "./tours.ts";

const open = () => import("./open/OpenSharePage.tsx");

const remote: RemoteModule = {
  routes: {
    "/recived": () => import("./inbox/ReceivedPage.tsx"),
    "/people": () => import("./people/PeoplePage.tsx"),
    "/share/:secretId": () => import("./create/SharePage.tsx"),
    "/asked-for": () => import("./ask/AskedForPage.tsx"),
    "/ask-for-secret": () => import("./ask/AskPage.tsx"),
    "/request/:requestId": () => import("./provide/ProvidePage.tsx"),
    "/shared/:shareId": open,
    "/p-shared/:shareId": open,
    "/secret-landing": () => import("./landing/LandingPage.tsx"),
  },
  tours,
};

export default remote;
