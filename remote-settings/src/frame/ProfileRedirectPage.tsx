import { Navigate } from "react-router-dom";

/** Route `/settings/*`: any path that is no page leads to the profile. */
export default function ProfileRedirectPage() {
  return <Navigate to="/settings/profile" replace />;
}
