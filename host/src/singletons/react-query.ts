/**
 * What the host gives to everybody who imports `@tanstack/react-query`: less its pages without end, its streams, and what
 * servers send along. The build puts this in place of the package; a test holds that pages import nothing else.
 */
export { MutationObserver, queryOptions, QueryClient, QueryClientProvider, QueryObserver, skipToken, useMutation, useQuery, useQueryClient } from "react-query-whole";
