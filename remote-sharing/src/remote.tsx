import type { RemoteModule } from "@relicario/shared/contract";

const remote: RemoteModule = {
  name: "sharing",
  contract: "^1",
  routes: [
    { path: "/recived", load: () => import("./inbox/ReceivedPage.tsx") },
    { path: "/shared/:shareId", load: () => import("./open/OpenSharePage.tsx") },
    { path: "/p-shared/:shareId", load: () => import("./open/OpenSharePage.tsx") },
    { path: "/secret-landing", load: () => import("./landing/LandingPage.tsx") },
  ],
  namespaces: ["beta-share", "beta-recover-share", "landing"],
  capabilities: ["navigate"],
};

export default remote;
