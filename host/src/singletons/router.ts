/**
 * What the host gives to everybody who imports `react-router-dom`: everything that a page of one browser-side router can use,
 * and not its server, its framework mode, its data loading and the routers that bring those. The build puts this in place of the package (see
 * tooling/src/webpack/shared-packages.ts); a test holds that host, remotes and shared import nothing else.
 */
export {
  Link,
  matchPath,
  Navigate,
  NavigationType,
  NavLink,
  Outlet,
  parsePath,
  Route,
  Router,
  Routes,
  UNSAFE_createBrowserHistory,
  useLocation,
  useNavigate,
  useParams,
  useRoutes,
  useSearchParams,
} from "react-router";
