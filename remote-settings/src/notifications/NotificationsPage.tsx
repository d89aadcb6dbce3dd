import { SettingsFrame } from "../frame/SettingsFrame.tsx";
import { NotificationSettings } from "./NotificationSettings.tsx";

/** Route `/settings/notifications`. */
export default function NotificationsPage() {
  return (
    <SettingsFrame page="notifications">
      <NotificationSettings />
    </SettingsFrame>
  );
}
