import { BookOpen } from "lucide-react";
import type { ReactElement } from "react";

/** A page of the integration guide or of the API's reference, which the service itself serves. It opens beside the console, so that nothing typed is lost. */
export function GuideLink({
  href,
  children,
}: {
  readonly href: `/docs${string}` | `/api/v1/docs${string}`;
  readonly children: string;
}): ReactElement {
  return (
    <a className="button plain" href={href} target="_blank" rel="noopener">
      <BookOpen size={14} aria-hidden />
      {children}
    </a>
  );
}
