import type { RemoteModule } from "@relicario/shared/contract";

const page = () => import("./SettingsPage.tsx");

const remote: RemoteModule = {
  routes: {
    "/settings/profile": page,
    "/settings/notifications": page,
    "/settings/billing": page,
    "/settings/payments": page,
    "/settings/delete-account": page,
    "/settings/*": page,
  },
};

export default remote;
