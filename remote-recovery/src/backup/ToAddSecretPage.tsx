import { Navigate } from "react-router-dom";

/** Steps of the backup flow that the protect form holds in one screen. */
export default function ToAddSecretPage() {
  return <Navigate to="/add-secret" replace />;
}
