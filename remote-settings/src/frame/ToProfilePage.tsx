import { Navigate } from "react-router-dom";

/** The index of settings, and whatever is not there. */
export default function ToProfilePage() {
  return <Navigate to="/settings/profile" replace />;
}
