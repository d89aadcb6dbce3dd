import type { RemoteModule } from "@relicario/shared/contract";

import { tours } from "./tours.ts";

const open = () => import("./open/OpenSharePage.tsx");

const remote: RemoteModule = {
  routes: {
    "/recived": () => import("./inbox/ReceivedPage.tsx"),
    "/people": () => import("./people/PeoplePage.tsx"),
    "/shared/:shareId": open,
    "/p-shared/:shareId": open,
    "/secret-landing": () => import("./landing/LandingPage.tsx"),
  },
  tours,
};

export default remote;
