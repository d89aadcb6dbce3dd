import type { RemoteModule } from "@relicario/shared/contract";

const account = () => import("./account/AccountPage.tsx");

const remote: RemoteModule = { routes: { "/settings/profile": account, "/settings/*": account } };

export default remote;
