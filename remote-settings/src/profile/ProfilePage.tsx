import { SettingsFrame } from "../frame/SettingsFrame.tsx";
import { ProfileSections } from "./ProfileSections.tsx";

/** Route `/settings/profile`. */
export default function ProfilePage() {
  return (
    <SettingsFrame page="profile">
      <ProfileSections />
    </SettingsFrame>
  );
}
