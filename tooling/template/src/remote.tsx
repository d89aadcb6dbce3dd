import type { RemoteModule } from "@relicario/shared/contract";

const remote: RemoteModule = {
  routes: { "/__name__": () => import("./page/FirstPage.tsx") },
};

export default remote;
