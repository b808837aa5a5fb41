import type { ReactElement, ReactNode } from "react";

/** The page of everything that comes before a screen: one panel in the middle. */
export function SinglePanel({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ReactNode;
}): ReactElement {
  return (
    <main className="single-panel">
      <section className="panel stack">
        <h1>{title}</h1>
        {children}
      </section>
    </main>
  );
}
