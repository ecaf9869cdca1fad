// SPDX-License-Identifier: MIT
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.filter.FirstKeyOnlyFilter;
import org.apache.hadoop.hbase.filter.KeyOnlyFilter;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * HBase's own client, doing what a mount is asked for. A line "WORK THREADS FIRST COUNT TABLE" does WORK for that many rows,
 * shared by the threads, and answers with the seconds it took. One call after the other:
 *
 *   stat    whether the row's column is there, and how long it is
 *   cat     the same, and its value
 *   put     a bare Put
 *   write   what a mount sends for a file that is overwritten: a raw look at the column, then a checked Put
 *   copy    and for one that rsync makes, with its row and family: five checked Puts of owners, modes and times as well
 *
 * In masses:
 *
 *   names   a scan of the rows' keys
 *   scan    a scan of everything
 *
 * usage: ClusterBench HOST:PORT
 */
public class ClusterBench {
  static final byte[] F = Bytes.toBytes("f"), Q = Bytes.toBytes("q"), VALUE = new byte[100];
  static final int RECORDS_OF_COPY = 5;

  public static void main(String[] args) throws Exception {
    Configuration conf = HBaseConfiguration.create();
    conf.set("hbase.client.registry.impl", "org.apache.hadoop.hbase.client.RpcConnectionRegistry");
    conf.set("hbase.client.bootstrap.servers", args[0]);
    try (Connection connection = ConnectionFactory.createConnection(conf);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in))) {
      System.out.println("ready");
      for (String line; (line = in.readLine()) != null;) {
        String[] words = line.split(" ");
        long begin = System.nanoTime();
        run(connection, TableName.valueOf(words[4]), words[0], Integer.parseInt(words[1]), Integer.parseInt(words[2]),
            Integer.parseInt(words[3]));
        System.out.println((System.nanoTime() - begin) / 1e9);
      }
    }
  }

  static void run(Connection connection, TableName name, String work, int threads, int first, int count) throws Exception {
    if (work.equals("names") || work.equals("scan")) {
      scan(connection, name, work.equals("names"), count);
      return;
    }
    List<Thread> all = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      int from = first + t * count / threads, to = first + (t + 1) * count / threads;
      all.add(new Thread(() -> {
        try (Table table = connection.getTable(name)) {
          for (int row = from; row < to; row++) act(table, work, row);
        } catch (Exception e) {
          e.printStackTrace();
          System.exit(1);
        }
      }));
    }
    for (Thread thread : all) thread.start();
    for (Thread thread : all) thread.join();
  }

  static void scan(Connection connection, TableName name, boolean keysOnly, int count) throws Exception {
    Scan scan = new Scan();
    if (keysOnly) scan.setFilter(new FirstKeyOnlyFilter());
    int seen = 0;
    try (Table table = connection.getTable(name); ResultScanner scanner = table.getScanner(scan)) {
      for (Result row : scanner) seen++;
    }
    if (seen < count) throw new IllegalStateException(seen + " rows");
  }

  static void act(Table table, String work, int number) throws Exception {
    byte[] row = Bytes.toBytes(String.format("r%05d", number));
    switch (work) {
      case "stat":
        look(table, new Get(row).setFilter(new KeyOnlyFilter(true)));
        return;
      case "cat":
        look(table, new Get(row).setFilter(new KeyOnlyFilter(true)));
        look(table, new Get(row));
        return;
      case "put":
        table.put(put(row, Q));
        return;
      case "write":
        write(table, row);
        return;
      case "copy":
        for (int i = 0; i < RECORDS_OF_COPY; i++) putIfAbsent(table, put(row, Bytes.toBytes("record" + i)));
        write(table, row);
        return;
      default:
        throw new IllegalArgumentException(work);
    }
  }

  static void look(Table table, Get get) throws Exception {
    if (table.get(get.addColumn(F, Q)).isEmpty()) throw new IllegalStateException("no row " + Bytes.toString(get.getRow()));
  }

  static Put put(byte[] row, byte[] qualifier) {
    return new Put(row).addColumn(F, qualifier, System.currentTimeMillis(), VALUE);
  }

  static void write(Table table, byte[] row) throws Exception {
    Scan raw = new Scan().withStartRow(row).withStopRow(row, true).setRaw(true).readVersions(2).addFamily(F).setLimit(1);
    try (ResultScanner scanner = table.getScanner(raw)) {
      scanner.next();
    }
    putIfAbsent(table, put(row, Q));
  }

  static void putIfAbsent(Table table, Put put) throws Exception {
    table.checkAndMutate(CheckAndMutate.newBuilder(put.getRow()).ifNotExists(F, Bytes.toBytes("none")).build(put));
  }
}
