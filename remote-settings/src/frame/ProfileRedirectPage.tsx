import { Navigate } from "react-router-dom";

/** Route `/settings/*`: redirects unknown paths to the profile. */
export default function ProfileRedirectPage() {
  return <Navigate to="/settings/profile" replace />;
}
