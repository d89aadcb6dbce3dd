import { SettingsFrame } from "../frame/SettingsFrame.tsx";
import { ProfileForm } from "./ProfileForm.tsx";

/** Route `/settings/profile`. */
export default function ProfilePage() {
  return (
    <SettingsFrame page="profile">
      <ProfileForm />
    </SettingsFrame>
  );
}
