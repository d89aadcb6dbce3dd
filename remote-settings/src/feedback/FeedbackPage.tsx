import { useLocation } from "react-router-dom";

import { SettingsFrame } from "../frame/SettingsFrame.tsx";
import { FeedbackForm } from "./FeedbackForm.tsx";
import { parseScreen } from "./screen.ts";

/** Route `/settings/feedback`. The feedback is about the screen whose link the person followed. */
export default function FeedbackPage() {
  const location = useLocation();
  return (
    <SettingsFrame page="feedback">
      <FeedbackForm screen={parseScreen(location.state)} />
    </SettingsFrame>
  );
}
