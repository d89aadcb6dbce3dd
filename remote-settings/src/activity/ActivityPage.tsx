import { SettingsFrame } from "../frame/SettingsFrame.tsx";
import { ActivityList } from "./ActivityList.tsx";

/** Route `/settings/activity`. */
export default function ActivityPage() {
  return (
    <SettingsFrame page="activity">
      <ActivityList />
    </SettingsFrame>
  );
}
