import { OwnSessions, type OwnSession } from "@relicario/shared/api";
import { usePortal, type Portal } from "@relicario/shared/contract";
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { z } from "zod";

const getSessionsKey = (userId: string) => ["user", "sessions", userId] as const;

export function sessionsQuery({ http, user }: Pick<Portal, "http" | "user">) {
  return queryOptions({
    queryKey: getSessionsKey(user.userId),
    queryFn: async ({ signal }) => (await http.request("GET", "/user/sessions", OwnSessions, { signal })).sessions,
    staleTime: 0,
  });
}

/**
 * Revokes a session, or all other sessions if null. Then refetches the list, even if the session
 * had already ended.
 */
export function useRevokeSession() {
  const { http, user } = usePortal();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (session: OwnSession | null) =>
      http.request("DELETE", session === null ? "/user/sessions" : `/user/sessions/${session.id}`, z.null()),
    onSettled: () => client.invalidateQueries({ queryKey: getSessionsKey(user.userId) }),
  });
}
