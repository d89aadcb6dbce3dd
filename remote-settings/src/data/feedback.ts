import type { FeedbackBody } from "@relicario/shared/api";
import { usePortal } from "@relicario/shared/contract";
import { useMutation } from "@tanstack/react-query";
import { z } from "zod";

export function useSendFeedback() {
  const { http } = usePortal();
  return useMutation({
    mutationFn: (body: FeedbackBody) => http.request("POST", "/user/feedback", z.null(), { body }),
  });
}
