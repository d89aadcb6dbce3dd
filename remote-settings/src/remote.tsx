import type { RemoteModule } from "@relicario/shared/contract";

const remote: RemoteModule = {
  routes: {
    "/settings/profile": () => import("./profile/ProfilePage.tsx"),
    "/settings/security": () => import("./security/SecurityPage.tsx"),
    "/settings/activity": () => import("./activity/ActivityPage.tsx"),
    "/settings/data": () => import("./data-page/DataPage.tsx"),
    "/settings/notifications": () => import("./notifications/NotificationsPage.tsx"),
    "/settings/billing": () => import("./billing/BillingPage.tsx"),
    "/settings/payments": () => import("./billing/PaymentsPage.tsx"),
    "/settings/feedback": () => import("./feedback/FeedbackPage.tsx"),
    "/settings/delete-account": () => import("./account/DeleteAccountPage.tsx"),
    "/settings/*": () => import("./frame/ProfileRedirectPage.tsx"),
  },
};

export default remote;
