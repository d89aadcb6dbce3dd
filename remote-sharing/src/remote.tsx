import type { RemoteModule } from "@relicario/shared/contract";

const open = () => import("./open/OpenSharePage.tsx");

const remote: RemoteModule = {
  routes: {
    "/recived": () => import("./inbox/ReceivedPage.tsx"),
    "/shared/:shareId": open,
    "/p-shared/:shareId": open,
    "/secret-landing": () => import("./landing/LandingPage.tsx"),
  },
};

export default remote;
