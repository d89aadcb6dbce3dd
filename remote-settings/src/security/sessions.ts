import { OwnSessions, type OwnSession } from "@relicario/shared/api";
import { usePortal, type Portal } from "@relicario/shared/contract";
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { z } from "zod";

const getSessionsKey = (userId: string) => ["user", "sessions", userId] as const;

/** Where the account is signed in. */
export function sessionsQuery({ http, user }: Pick<Portal, "http" | "user">) {
  return queryOptions({
    queryKey: getSessionsKey(user.userId),
    queryFn: async ({ signal }) => (await http.request("GET", "/user/sessions", OwnSessions, { signal })).sessions,
    staleTime: 0,
  });
}

/**
 * Ends one sign-in, or with null all others. One that ended meanwhile is no error: the list is read
 * anew.
 */
export function useEndSession() {
  const { http, user } = usePortal();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (session: OwnSession | null) =>
      http.request("DELETE", session === null ? "/user/sessions" : `/user/sessions/${session.id}`, z.null()),
    onSettled: () => client.invalidateQueries({ queryKey: getSessionsKey(user.userId) }),
  });
}
