import type { RemoteModule } from "@relicario/shared/contract";

const remote: RemoteModule = {
  name: "settings",
  contract: "^1",
  routes: [{ path: "/settings/*", load: () => import("./frame/SettingsPage.tsx") }],
  namespaces: ["settings"],
  capabilities: ["http", "user", "notify", "navigate"],
};

export default remote;
