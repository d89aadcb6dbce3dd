import type { RemoteModule } from "@relicario/shared/contract";

const loadAccountPage = () => import("./account/AccountPage.tsx");

const remote: RemoteModule = { routes: { "/settings/profile": loadAccountPage, "/settings/*": loadAccountPage } };

export default remote;
